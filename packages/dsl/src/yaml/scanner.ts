import { endOfPlain, isBlank, isFlowIndicator, NL, SPACE, startsPlain, TAB } from './characters';
import { type ReadLimits, YamlError } from './limits';
import { isDocumentMarker, scanBlock, scanQuoted } from './scalars';
import { SimpleKeys } from './simple-keys';
import { T, type Token } from './token';

/** Converts text to tokens, YAML 1.1: block structure becomes explicit tokens; a `key:` is recognized at its colon. */
export class Scanner {
  private pos = 0;
  private line = 0;
  private lineStart = 0;
  private flowLevel = 0;
  private indent = -1;
  private readonly indents: number[] = [];
  private allowSimpleKey = true;
  private readonly keys = new SimpleKeys();
  private tokens: Token[] = [];
  private head = 0;
  private taken = 0;
  private isDone = false;

  constructor(
    private readonly text: string,
    private readonly limits: ReadLimits,
  ) {}

  peek(): Token {
    while (this.needMore()) this.fetch();
    return this.tokens[this.head]!;
  }

  next(): Token {
    const token = this.peek();
    this.head++;
    this.taken++;
    if (this.head > 256) {
      this.tokens = this.tokens.slice(this.head);
      this.head = 0;
    }
    return token;
  }

  private needMore(): boolean {
    if (this.isDone) return false;
    if (this.head >= this.tokens.length) return true;
    this.keys.dropStale(this.line, this.pos);
    return this.keys.oldest === this.taken;
  }

  private push(t: T, start: number, text = '', isPlain = false): void {
    this.tokens.push({ t, start, text, isPlain });
  }

  private fetch(): void {
    this.toNextToken();
    this.keys.dropStale(this.line, this.pos);
    const column = this.pos - this.lineStart;
    this.unwind(column);
    const text = this.text;
    const c = text.charCodeAt(this.pos);
    if (Number.isNaN(c)) return this.fetchEnd();
    if (column === 0) {
      if (c === 37) return this.fetchDirective();
      if ((c === 45 || c === 46) && isDocumentMarker(text, this.pos))
        return this.fetchMarker(c === 45 ? T.DocumentStart : T.DocumentEnd);
    }
    switch (c) {
      case 91:
        return this.fetchFlowStart(T.FlowSeqStart);
      case 123:
        return this.fetchFlowStart(T.FlowMapStart);
      case 93:
        return this.fetchFlowEnd(T.FlowSeqEnd);
      case 125:
        return this.fetchFlowEnd(T.FlowMapEnd);
      case 44:
        return this.fetchFlowEntry();
      case 42:
        return this.fetchName(T.Alias);
      case 38:
        return this.fetchName(T.Anchor);
      case 33:
        return this.fetchTag();
      case 39:
      case 34:
        return this.fetchQuoted();
      case 124:
      case 62:
        if (this.flowLevel === 0) return this.fetchBlockScalar();
        break;
      default:
    }
    const next = text.charCodeAt(this.pos + 1);
    if (c === 45 && isBlank(next)) return this.fetchBlockEntry(column);
    if (c === 63 && (isBlank(next) || (this.flowLevel > 0 && isFlowIndicator(next))))
      return this.fetchKey(column);
    // inside brackets `"a":1` needs no blank; a ":" there without a key before it begins a text
    const endsKey =
      this.flowLevel > 0 && (isFlowIndicator(next) || this.keys.at(this.flowLevel) !== undefined);
    if (c === 58 && (isBlank(next) || endsKey)) return this.fetchValue(column);
    if (startsPlain(c, next, this.flowLevel > 0)) return this.fetchPlain();
    const shown = c === TAB ? 'a tab' : `the character ${JSON.stringify(text[this.pos])}`;
    throw new YamlError(
      'scanner',
      `${shown} cannot begin a value here`,
      this.pos,
      c === TAB ? 'spaces for indentation' : 'quotes around the text',
    );
  }

  private newLine(): void {
    this.pos++;
    this.line++;
    this.lineStart = this.pos;
  }

  private toNextToken(): void {
    const text = this.text;
    for (;;) {
      while (text.charCodeAt(this.pos) === SPACE) this.pos++;
      let c = text.charCodeAt(this.pos);
      if (c === 35) {
        const end = text.indexOf('\n', this.pos);
        this.pos = end < 0 ? text.length : end;
        c = text.charCodeAt(this.pos);
      }
      if (c !== NL) return;
      this.newLine();
      if (this.flowLevel === 0) this.allowSimpleKey = true;
    }
  }

  private saveKey(): void {
    const column = this.pos - this.lineStart;
    const isRequired = this.flowLevel === 0 && this.indent === column;
    if (!this.allowSimpleKey) return;
    const tokenNumber = this.taken + this.tokens.length - this.head;
    this.keys.put(this.flowLevel, { tokenNumber, isRequired, start: this.pos, line: this.line, column });
  }

  private removeKey(): void {
    this.keys.remove(this.flowLevel);
  }

  private unwind(column: number): void {
    if (this.flowLevel > 0) return;
    while (this.indent > column) {
      this.indent = this.indents.pop()!;
      this.push(T.BlockEnd, this.pos);
    }
  }

  private addIndent(column: number): boolean {
    if (this.indent >= column) return false;
    if (this.indents.length > this.limits.depth)
      throw new YamlError(
        'limit',
        'collections are nested too deeply',
        this.pos,
        `at most ${this.limits.depth} levels`,
      );
    this.indents.push(this.indent);
    this.indent = column;
    return true;
  }

  private fetchEnd(): void {
    this.unwind(-1);
    this.removeKey();
    this.allowSimpleKey = false;
    this.push(T.StreamEnd, this.pos);
    this.isDone = true;
  }

  private fetchDirective(): void {
    this.unwind(-1);
    this.removeKey();
    this.allowSimpleKey = false;
    const start = this.pos;
    const end = this.text.indexOf('\n', this.pos);
    this.pos = end < 0 ? this.text.length : end;
    this.push(T.Directive, start);
  }

  private fetchMarker(t: T): void {
    this.unwind(-1);
    this.removeKey();
    this.allowSimpleKey = false;
    this.push(t, this.pos);
    this.pos += 3;
  }

  private fetchFlowStart(t: T): void {
    this.saveKey();
    if (++this.flowLevel > this.limits.depth)
      throw new YamlError(
        'limit',
        'collections are nested too deeply',
        this.pos,
        `at most ${this.limits.depth} levels`,
      );
    this.allowSimpleKey = true;
    this.push(t, this.pos++);
  }

  private fetchFlowEnd(t: T): void {
    this.removeKey();
    this.keys.leave(this.flowLevel);
    this.flowLevel = Math.max(0, this.flowLevel - 1);
    this.allowSimpleKey = false;
    this.push(t, this.pos++);
  }

  private fetchFlowEntry(): void {
    this.allowSimpleKey = true;
    this.removeKey();
    this.push(T.FlowEntry, this.pos++);
  }

  private fetchBlockEntry(column: number): void {
    if (this.flowLevel === 0) {
      if (!this.allowSimpleKey)
        throw new YamlError(
          'scanner',
          'a list item cannot begin here',
          this.pos,
          'the list on its own lines',
        );
      if (this.addIndent(column)) this.push(T.BlockSeqStart, this.pos);
    }
    this.allowSimpleKey = true;
    this.removeKey();
    this.push(T.BlockEntry, this.pos++);
  }

  private fetchKey(column: number): void {
    if (this.flowLevel === 0) {
      if (!this.allowSimpleKey) throw new YamlError('scanner', 'a mapping key cannot begin here', this.pos);
      if (this.addIndent(column)) this.push(T.BlockMapStart, this.pos);
    }
    this.allowSimpleKey = this.flowLevel === 0;
    this.removeKey();
    this.push(T.Key, this.pos++);
  }

  private fetchValue(column: number): void {
    const key = this.keys.at(this.flowLevel);
    if (key) {
      this.keys.take(this.flowLevel);
      const inserted: Token[] = [];
      if (this.flowLevel === 0 && this.addIndent(key.column))
        inserted.push({ t: T.BlockMapStart, start: key.start, text: '', isPlain: false });
      inserted.push({ t: T.Key, start: key.start, text: '', isPlain: false });
      this.tokens.splice(this.head + key.tokenNumber - this.taken, 0, ...inserted);
      this.allowSimpleKey = false;
    } else {
      if (this.flowLevel === 0) {
        if (!this.allowSimpleKey)
          throw new YamlError(
            'scanner',
            '":" is not allowed here',
            this.pos,
            'quotes around a text that holds ": "',
          );
        if (this.addIndent(column)) this.push(T.BlockMapStart, this.pos);
      }
      this.allowSimpleKey = this.flowLevel === 0;
      this.removeKey();
    }
    this.push(T.Value, this.pos++);
  }

  private fetchName(t: T): void {
    this.saveKey();
    this.allowSimpleKey = false;
    const start = this.pos++;
    while (/[0-9A-Za-z_.-]/.test(this.text[this.pos] ?? '')) this.pos++;
    const name = this.text.slice(start + 1, this.pos);
    const c = this.text.charCodeAt(this.pos);
    if (
      name === '' ||
      !(isBlank(c) || isFlowIndicator(c) || c === 58 || c === 63 || c === 37 || c === 64 || c === 96)
    ) {
      throw new YamlError(
        'scanner',
        `not a name of an ${t === T.Alias ? 'alias' : 'anchor'}`,
        start,
        'letters, digits, "-" and "_"',
      );
    }
    this.push(t, start, name);
  }

  private fetchTag(): void {
    this.saveKey();
    this.allowSimpleKey = false;
    const start = this.pos;
    while (
      !isBlank(this.text.charCodeAt(this.pos)) &&
      !(this.flowLevel > 0 && isFlowIndicator(this.text.charCodeAt(this.pos)))
    )
      this.pos++;
    this.push(T.Tag, start, this.text.slice(start, this.pos));
  }

  private moveTo(end: number): void {
    for (
      let at = this.text.indexOf('\n', this.pos);
      at >= 0 && at < end;
      at = this.text.indexOf('\n', at + 1)
    ) {
      this.line++;
      this.lineStart = at + 1;
    }
    this.pos = end;
  }

  private pushScalar(text: string, start: number, isPlain: boolean): void {
    if (text.length > this.limits.scalarLength)
      throw new YamlError(
        'limit',
        'a scalar is too long',
        start,
        `at most ${this.limits.scalarLength} characters`,
      );
    this.push(T.Scalar, start, text, isPlain);
  }

  private fetchQuoted(): void {
    this.saveKey();
    this.allowSimpleKey = false;
    const start = this.pos;
    const scalar = scanQuoted(this.text, start);
    this.moveTo(scalar.end);
    this.pushScalar(scalar.text, start, false);
  }

  private fetchBlockScalar(): void {
    this.allowSimpleKey = true;
    this.removeKey();
    const start = this.pos;
    const scalar = scanBlock(this.text, start, this.indent, this.limits);
    this.moveTo(scalar.end);
    this.pushScalar(scalar.text, start, false);
  }

  private fetchPlain(): void {
    this.saveKey();
    this.allowSimpleKey = false;
    const text = this.text;
    const start = this.pos;
    const indent = this.indent + 1;
    let result = '';
    let end = start;
    for (;;) {
      const from = this.pos;
      end = endOfPlain(text, from, this.flowLevel > 0);
      if (end === from) break;
      this.allowSimpleKey = false;
      const run = text.slice(from, end);
      result = result === '' ? run : result + run;
      this.pos = end;
      const spaces = this.plainSpaces();
      if (spaces === '' || text.charCodeAt(this.pos) === 35) break;
      if (this.flowLevel === 0 && this.pos - this.lineStart < indent) break;
      if (endOfPlain(text, this.pos, this.flowLevel > 0) === this.pos) break;
      result += spaces;
    }
    this.pushScalar(result, start, true);
  }

  /** Returns the white space inside a plain scalar; '' when the scalar ends here. */
  private plainSpaces(): string {
    const text = this.text;
    const from = this.pos;
    while (text.charCodeAt(this.pos) === SPACE) this.pos++;
    if (text.charCodeAt(this.pos) !== NL) return text.slice(from, this.pos);
    let breaks = 0;
    this.allowSimpleKey = true;
    while (text.charCodeAt(this.pos) === NL) {
      breaks++;
      this.newLine();
      if (isDocumentMarker(text, this.pos)) return '';
      while (text.charCodeAt(this.pos) === SPACE) this.pos++;
    }
    return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
  }
}
