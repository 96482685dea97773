/** Places for operations. A task keeps its place until its outcome has been answered, so outcomes are bounded too. */
export interface Slots {
  readonly free: number;
  /** Takes one place; waits in line for it. False: `signal` came first. */
  take(signal: AbortSignal): Promise<boolean>;
  /** Takes up to `wanted` places that are free now; answers how many. Nobody in line is overtaken. */
  takeSome(wanted: number): number;
  give(count: number): void;
}

export function createSlots(total: number): Slots {
  let free = total;
  const line: (() => void)[] = [];
  return {
    get free() {
      return free;
    },
    take: (signal) => {
      if (signal.aborted) return Promise.resolve(false);
      if (free > 0) {
        free--;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const leave = (): void => {
          line.splice(line.indexOf(enter), 1);
          resolve(false);
        };
        const enter = (): void => {
          signal.removeEventListener('abort', leave);
          resolve(true);
        };
        signal.addEventListener('abort', leave, { once: true });
        line.push(enter);
      });
    },
    takeSome: (wanted) => {
      const taken = line.length > 0 ? 0 : Math.max(0, Math.min(wanted, free));
      free -= taken;
      return taken;
    },
    give: (count) => {
      free += count;
      while (free > 0 && line.length > 0) {
        free--;
        line.shift()?.();
      }
    },
  };
}
