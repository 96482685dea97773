/** User actions on a page of the console. */
import type { Locator, Page } from 'playwright-core';

export interface Hands {
  /** The open dialog or confirmation. */
  dialog(): Locator;
  /** Presses a button of the page, found by its full name. */
  press(name: string): Promise<void>;
  /** Presses a button of the dialog. */
  send(name: string): Promise<void>;
  /** Waits until no dialog is open. */
  isClosed(): Promise<void>;
}

export function handsOn(page: Page): Hands {
  const dialog = (): Locator => page.getByRole('dialog').or(page.getByRole('alertdialog'));
  return {
    dialog,
    press: async (name) => await page.getByRole('button', { name, exact: true }).click(),
    send: async (name) => await dialog().getByRole('button', { name, exact: true }).click(),
    isClosed: async () => await dialog().waitFor({ state: 'detached' }),
  };
}
