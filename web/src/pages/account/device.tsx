import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { answerDevice, type DeviceRequest, findDeviceRequest } from "../../account_routes.ts";
import { api, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { ADMIN_SCOPE, SCOPES } from "./scopes.ts";

const route = getRouteApi("/signed-in/device");

/** Where a person signs a program in by the code that it shows. */
export function DevicePage() {
  const { user_code: code } = route.useSearch();
  return (
    <div className="mx-auto w-full max-w-md">
      <h1 className="mb-3 text-xl font-semibold">Sign a program in</h1>
      {code === undefined ? <CodeForm /> : <Request key={code} code={code} />}
    </div>
  );
}

function CodeForm() {
  const navigate = useNavigate();
  const { register, handleSubmit, formState: { errors } } = useForm<{ readonly code: string }>();
  const submit = handleSubmit(({ code }) => navigate({ to: "/device", search: { user_code: code.trim() } }));
  return (
    <form noValidate onSubmit={submit} className="rounded-lg border border-line bg-surface p-4">
      <Field
        label="Code"
        hint="The program shows it, such as K7PMX2QD"
        autoComplete="off"
        autoCapitalize="characters"
        autoFocus
        maxLength={20}
        error={errors.code?.message}
        {...register("code", { validate: (code) => code.trim() !== "" || "Enter the code" })}
      />
      <Button type="submit" kind="primary">Go on</Button>
    </form>
  );
}

function Request({ code }: { readonly code: string }) {
  const navigate = useNavigate();
  const { data, error } = useQuery({
    queryKey: ["device", code],
    queryFn: () => findDeviceRequest(code),
    retry: false,
    staleTime: Infinity,
  });
  const answer = useMutation({ mutationFn: (isAllowed: boolean) => answerDevice(code, isAllowed) });
  const again = <Button onClick={() => navigate({ to: "/device" })}>Enter another code</Button>;
  if (error !== null) return <Card words={`${describeError(error)}.`}>{again}</Card>;
  if (data === undefined) return <Card words="Looking for the program…" />;
  if (answer.isSuccess) {
    return (
      <Card
        words={answer.variables ? "It is signed in. You can close this page." : "It was refused. Nothing was given."}
      />
    );
  }
  if (data.status !== "pending") return <Card words="This code has been answered already.">{again}</Card>;
  if (data.client_id === undefined) return <Card words="Another account has opened this code.">{again}</Card>;
  return (
    <Question
      code={code}
      request={data}
      isSending={answer.isPending}
      fault={answer.error === null ? "" : describeError(answer.error)}
      onAnswer={answer.mutate}
    />
  );
}

function Question({ code, request: { client_id: name, scope }, isSending, fault, onAnswer }: {
  readonly code: string;
  readonly request: DeviceRequest;
  readonly isSending: boolean;
  readonly fault: string;
  readonly onAnswer: (isAllowed: boolean) => void;
}) {
  const { data } = useQuery(api.session.get.queryOptions());
  const rights = [...SCOPES, ADMIN_SCOPE].find(({ value }) => value === (scope ?? "run"))?.label ?? scope;
  return (
    <section className="rounded-lg border border-line bg-surface p-4">
      <p className="mb-3 wrap-anywhere">
        <strong>{name}</strong> asks for a token with which it acts for <strong>{data?.user.email}</strong>.
      </p>
      <dl className="mb-3 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <dt className="text-muted">Its code</dt>
        <dd className="font-mono text-lg tracking-widest">{code.toUpperCase()}</dd>
        <dt className="text-muted">Its rights</dt>
        <dd>{rights}</dd>
      </dl>
      <p className="mb-4 text-sm text-muted">
        Go on only if you started it yourself, and it shows this code. The token stands on your account page, where you
        can revoke it.
      </p>
      <div className="flex gap-2">
        <Button kind="primary" disabled={isSending} onClick={() => onAnswer(true)}>Sign it in</Button>
        <Button kind="danger" disabled={isSending} onClick={() => onAnswer(false)}>Refuse</Button>
      </div>
      <p role="alert" className="mt-2 min-h-5 text-sm text-danger">{fault}</p>
    </section>
  );
}

function Card({ words, children }: { readonly words: string; readonly children?: ReactNode }) {
  return (
    <section className="rounded-lg border border-line bg-surface p-4">
      <p role="status" className="mb-3">{words}</p>
      {children}
    </section>
  );
}
