import { useBlocker } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import { api, queryClient } from "../api.ts";
import { isRecord } from "./parameter_fields.ts";

const DRAFTS_MAX = 50;
const PREFIX = "hindcast.draft ";

/** Reads what was typed under a name and not sent yet; undefined where nothing was. */
export function readDraft(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(keyOf(name)) ?? "{}").typed;
  } catch {
    // Another program's text.
    return undefined;
  }
}

/** Keeps what is typed, in this browser and apart for each account. The oldest drafts make room. @returns False where the browser has no room. */
export function keepDraft(name: string, typed: unknown): boolean {
  try {
    localStorage.setItem(keyOf(name), JSON.stringify({ typed, at: Date.now() }));
    const keys = listDrafts();
    if (keys.length > DRAFTS_MAX) localStorage.removeItem(keys.toSorted((a, b) => timeOf(a) - timeOf(b))[0] ?? "");
    return true;
  } catch {
    return false;
  }
}

/** Forgets a draft that was sent or is not wanted. */
export function dropDraft(name: string): void {
  localStorage.removeItem(keyOf(name));
}

/** The draft of a run's notes. */
export function notesDraft(id: string): string {
  return `notes ${id}`;
}

/** The keys of this account's drafts in the browser's storage. */
export function listDrafts(): string[] {
  return Object.keys(localStorage).filter((key) => key.startsWith(keyOf("")));
}

/** Asks before this page is left, also by a reload or by closing it. @param isLost True where what is typed is kept nowhere. */
export function useLeaveQuestion(isLost: boolean): void {
  useBlocker({
    // A tab or a filter of the same page keeps what is typed.
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && !confirm("What you typed here is not saved and would be lost. Leave?"),
    enableBeforeUnload: true,
    disabled: !isLost,
  });
}

/**
 * Keeps what is typed in a form until it is sent: through a reload, Back, and a restart of the service. Leaving asks first where the
 * browser could not keep it.
 *
 * @param name Of this form, its address among them. @param leftOut A field that is not kept, such as a file.
 */
export function useDraft<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  name: string,
  leftOut?: keyof Values,
) {
  const [isRestored, setRestored] = useState(false);
  const [isLost, setLost] = useState(false);
  useLeaveQuestion(isLost);
  useEffect(() => {
    const start = form.formState.defaultValues ?? {};
    const plain = JSON.stringify({ ...start, [leftOut ?? ""]: undefined });
    const draft = readDraft(name);
    if (isRecord(draft)) {
      form.reset(fill(form.getValues(), draft), { keepDefaultValues: true });
      setRestored(true);
    }
    const { unsubscribe } = form.watch((values) => {
      const typed = { ...values, [leftOut ?? ""]: undefined };
      if (JSON.stringify(typed) === plain) return dropDraft(name);
      setLost(!keepDraft(name, typed));
    });
    return unsubscribe;
  }, [form, name]);
  return {
    isRestored,
    /** Forgets the draft: the form was sent, or begins anew. */
    drop: () => {
      dropDraft(name);
      setRestored(false);
      setLost(false);
    },
  };
}

/** The draft's values where they are of the form's kinds: an earlier console, or strategy, may have had others. */
function fill<Form extends object>(form: Form, draft: Readonly<Record<string, unknown>>): Form {
  const filled = Object.entries(form).map(([name, own]) => {
    const typed = draft[name];
    if (isRecord(own) && isRecord(typed)) return [name, fill(own, typed)];
    return [name, fits(own, typed) ? typed : own];
  });
  return Object.assign({}, form, Object.fromEntries(filled));
}

function fits(own: unknown, typed: unknown): boolean {
  if (!Array.isArray(own)) return typeof own === typeof typed && isRecord(own) === isRecord(typed);
  if (!Array.isArray(typed)) return false;
  // Rows are added and removed; parameters and rules stand by their positions.
  const isRows = own.every(isRecord) && typed.every(isRecord);
  return isRows || (own.length === typed.length && typed.every((each) => ["string", "boolean"].includes(typeof each)));
}

function keyOf(name: string): string {
  return `${PREFIX}${queryClient.getQueryData(api.session.get.queryKey())?.user.id} ${name}`;
}

function timeOf(key: string): number {
  const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
  return isRecord(kept) ? Number(kept["at"]) : 0;
}
