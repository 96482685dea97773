export function ensureTestServices(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }>;
export function ensurePrograms(programs: Record<string, string>): void;
export function ensurePythonVenv(): void;
