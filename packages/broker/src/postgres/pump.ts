/** Runs `fetch`, one at a time: after a kick, and again while it reports that there is more. */
export interface Pump {
  /** Call this when there may be something to fetch. */
  kick(): void;
  /** Call this when there is room again; fetches only when something may be left. */
  resume(): void;
  /** Whether there is room, nothing is known to wait, and no fetch is under way. */
  isFree(): boolean;
  /** Waits for the fetch under way and prevents further ones. */
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
      // For a kick between the last fetch and this point.
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
