/// <reference lib="dom" />
// @ts-types="./swagger_ui.d.ts"
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { followShownTheme } from "../theme/theme.ts";
import "swagger-ui-dist/swagger-ui.css";
import "./docs.css";

const domNode = document.getElementById("reference");
if (domNode === null) throw new Error("Cannot show the reference: the page has no element #reference");
// The library's own name of its dark palette.
followShownTheme((theme) => document.documentElement.classList.toggle("dark-mode", theme === "dark"));
SwaggerUI({
  url: "/openapi.json",
  domNode,
  deepLinking: true,
  filter: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
