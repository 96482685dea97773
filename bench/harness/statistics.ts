/** Figures of several rounds: never a single number without its spread. */
export interface Spread {
  median: number;
  /** The least favourable round. */
  worst: number;
}

export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export const median = (values: readonly number[]): number => {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

export const rounded = (value: number, digits = 2): number => {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
};

/** Returns the median and the worst of `values`, rounded. */
export function spread(values: readonly number[], best: 'most' | 'least'): Spread {
  const worst = best === 'most' ? Math.min(...values) : Math.max(...values);
  return { median: rounded(median(values)), worst: rounded(worst) };
}

/** Returns ratios of results of the same round, so that a slow moment of the machine affects both. */
export function ratios(
  measured: readonly number[],
  baseline: readonly number[],
  best: 'most' | 'least',
): Spread {
  return spread(
    measured.map((value, i) => value / baseline[i]!),
    best,
  );
}
