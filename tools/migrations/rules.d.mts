/** What is wrong with a line of a migration. */
export interface MigrationProblem {
  line: number;
  says: string;
}
export const SMALL: Readonly<Record<string, readonly string[]>>;
export function judgeMigration(
  text: string,
  about?: { before?: readonly string[]; small?: readonly string[] },
): MigrationProblem[];
