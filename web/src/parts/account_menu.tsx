import { Menu } from "@base-ui/react/menu";
import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../account_routes.ts";
import { queryClient } from "../api.ts";
import { MENU_ITEM_CLASS, MenuPanel } from "./menu_panel.tsx";
import { chooseTheme, THEMES, useTheme } from "../theme/theme.ts";

/** The user's menu: the palette, and the way out. */
export function AccountMenu({ email }: { readonly email: string }) {
  const navigate = useNavigate();
  const theme = useTheme();
  const leave = async () => {
    await signOut();
    queryClient.clear();
    await navigate({ to: "/sign-in" });
  };
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="flex h-8 max-w-24 items-center sm:max-w-48 rounded-md px-2 text-sm text-muted hover:bg-sunken">
        <span className="sr-only">Account of</span>
        <span className="truncate">{email}</span>
      </Menu.Trigger>
      <MenuPanel align="end">
        <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
          {THEMES.map((each) => (
            <Menu.RadioItem key={each} value={each} className={MENU_ITEM_CLASS} closeOnClick={false}>
              <span className="w-4">
                <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
              </span>
              {each === "system" ? "Theme of the device" : each === "light" ? "Light" : "Dark"}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Separator className="my-1 border-t border-line" />
        <Menu.Item className={MENU_ITEM_CLASS} onClick={() => void navigate({ to: "/account" })}>
          <span className="w-4" />Account
        </Menu.Item>
        <Menu.Item className={MENU_ITEM_CLASS} nativeButton={false} render={<a href="/docs" />}>
          <span className="w-4" />API reference
        </Menu.Item>
        <Menu.Item className={MENU_ITEM_CLASS} onClick={leave}>
          <span className="w-4" />Sign out
        </Menu.Item>
      </MenuPanel>
    </Menu.Root>
  );
}
