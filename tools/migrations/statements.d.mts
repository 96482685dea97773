export function statementsOf(text: string): { text: string; line: number }[];
export function markOf(
  text: string,
): { kind: 'expand' | 'contract'; isWithoutTransaction: boolean; reason: string } | null;
export function atTopLevel(text: string): string[];
