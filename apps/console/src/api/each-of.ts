/** Sends one request for each of several things. */

export interface EachResult<Answer = unknown> {
  id: string;
  /** Null where the request failed. */
  answer: Answer | null;
  error: unknown;
}

/** Runs `work` for each id, at most `atOnce` at the same time. A failure of one does not stop the others. */
export async function eachOf<Answer>(
  ids: readonly string[],
  atOnce: number,
  work: (id: string) => Promise<Answer>,
): Promise<EachResult<Answer>[]> {
  const results: EachResult<Answer>[] = [];
  const left = [...ids];
  const lane = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        results.push({ id, answer: await work(id), error: null });
      } catch (error) {
        results.push({ id, answer: null, error });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}
