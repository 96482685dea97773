/** Runs `fetch` one at a time: when there is news, and again while it says that there is more. */
export interface Pump {
  /** There may be something to fetch. */
  kick(): void;
  /** There is room again; fetches only when something may be left. */
  resume(): void;
  /** There is room, nothing is known to wait, and no fetch is under way. */
  isFree(): boolean;
  /** Waits for the fetch under way; none begins after it. */
  stop(): Promise<void>;
}

export function createPump(deps: {
  fetch: () => Promise<{ isMore: boolean }>;
  hasRoom: () => boolean;
  onError: (error: Error) => void;
}): Pump {
  let isNews = false;
  let isStopped = false;
  let running: Promise<void> | null = null;

  const run = async (): Promise<void> => {
    while (isNews && deps.hasRoom() && !isStopped) {
      isNews = false;
      try {
        const { isMore } = await deps.fetch();
        isNews ||= isMore;
      } catch (error) {
        deps.onError(error as Error);
      }
    }
  };
  const resume = (): void => {
    if (running || isStopped || !isNews) return;
    running = run().finally(() => {
      running = null;
      // News that came between the last look and here.
      if (isNews && deps.hasRoom()) resume();
    });
  };
  return {
    resume,
    isFree: () => deps.hasRoom() && !isNews && !running && !isStopped,
    kick: () => {
      isNews = true;
      resume();
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}
