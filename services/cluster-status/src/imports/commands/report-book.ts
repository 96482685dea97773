import { clearReport, insertLines, type ReportLine } from '../store/report.sql';
import type { ImportDeps } from './import-deps';

const LINES_A_WRITE = 500;
/** Lines that a report keeps; further ones are counted. */
const MAX_LINES = 1_000_000;
const MAX_TEXT = 2_000;

/** Writes the report of an import, line by line. A repeat begins anew. */
export class ReportBook {
  #lines: ReportLine[] = [];
  #written = 0;
  #leftOut = 0;

  private constructor(
    private readonly db: ImportDeps['db'],
    private readonly importId: string,
  ) {}

  static async begin(db: ImportDeps['db'], importId: string): Promise<ReportBook> {
    await clearReport(db.query, importId);
    return new ReportBook(db, importId);
  }

  async add(line: ReportLine): Promise<void> {
    if (this.#written + this.#lines.length >= MAX_LINES) {
      this.#leftOut++;
      return;
    }
    this.#lines.push({ ...line, text: line.text.slice(0, MAX_TEXT) });
    if (this.#lines.length >= LINES_A_WRITE) await this.#flush();
  }

  async close(): Promise<void> {
    if (this.#leftOut > 0)
      this.#lines.push({
        kind: 'total',
        code: 'lines_left_out',
        text: `${this.#leftOut} further lines are not in this report`,
      });
    if (this.#lines.length > 0) await this.#flush();
  }

  async #flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    await insertLines(this.db.query, this.importId, this.#written, lines);
    this.#written += lines.length;
  }
}
