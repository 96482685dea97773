/** The time limit of the row is over, so waiting is pointless. */
export class RowOver extends Error {}

/** Resolves or rejects like `work`, but at the latest after `limitMs`. @throws RowOver */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RowOver(`not through after ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
