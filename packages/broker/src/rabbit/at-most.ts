/** Longest time of one step of a shutdown; a dead connection never answers. */
const GOODBYE_MS = 2_000;

/** Waits for `step` of a shutdown, for a limited time; ignores its failure. */
export async function atMost(step: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GOODBYE_MS);
  });
  await Promise.race([step.catch(() => undefined), late]);
  clearTimeout(timer);
}
