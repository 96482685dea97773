/** Most that one step of an orderly goodbye may take; a dead connection answers nothing. */
const GOODBYE_MS = 2_000;

/** Waits for `step` of a goodbye, not for ever, and whatever becomes of it. */
export async function atMost(step: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GOODBYE_MS);
  });
  await Promise.race([step.catch(() => undefined), late]);
  clearTimeout(timer);
}
