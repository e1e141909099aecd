import { AlertDialog } from "@base-ui/react/alert-dialog";
import { describeError } from "../api.ts";
import { Button, buttonClass } from "./button.tsx";

/**
 * A button that deletes after a question.
 *
 * @param trigger The button's own word. @param title The question. @param text What else is lost. @param label The answer that deletes.
 * @param removal Its state; `error` is that of the last attempt.
 */
export function DeleteButton({ trigger = "Delete", title, text, label, removal: { isPending, error }, onConfirm }: {
  readonly trigger?: string;
  readonly title: string;
  readonly text: string;
  readonly label: string;
  readonly removal: { readonly isPending: boolean; readonly error: unknown };
  readonly onConfirm: () => void;
}) {
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger className={buttonClass("danger")}>{trigger}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-20 bg-page/70" />
        <AlertDialog.Popup className="fixed top-1/3 left-1/2 z-30 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg border border-line bg-surface p-5 shadow-xl">
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-2 text-muted">{text}</AlertDialog.Description>
          <p role="alert" className="min-h-5 text-sm text-danger">{error === null ? "" : describeError(error)}</p>
          <div className="mt-3 flex justify-end gap-2">
            <AlertDialog.Close className={buttonClass()}>Keep it</AlertDialog.Close>
            <Button kind="danger" disabled={isPending} onClick={onConfirm}>{label}</Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
