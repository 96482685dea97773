import { defaultReadLimits, type ReadLimits, YamlError } from './limits';
import { entriesOf } from './mapping';
import { MapNode, type Node, ScalarNode, type ScalarType, SeqNode } from './node';
import { resolvePlain } from './resolve';
import { Scanner } from './scanner';
import { Source } from './source';
import { T, type Token } from './token';

/** A read text: its root (null for an empty document), or the error when it is not YAML. */
export interface Document {
  source: Source;
  root: Node | null;
  error: YamlError | null;
  /** Strings with characters outside ASCII (not allowed in blueprints). */
  nonAscii: ScalarNode[];
}

const NOT_PRINTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/;
const NOT_ASCII = /[^\0-\x7f]/;
const NON_ASCII_MAX = 100;

/**
 * Reads one YAML 1.1 document in time linear to its length. Of duplicate keys the last one wins. Merge keys are
 * applied. Never throws; a fault is in `error`.
 */
export function readYaml(
  name: string | null,
  text: string,
  limits: ReadLimits = defaultReadLimits,
): Document {
  const clean = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  const source = new Source(name, clean.charCodeAt(0) === 0xfeff ? clean.slice(1) : clean);
  const reader = new Reader(source, limits);
  try {
    const root = reader.document();
    return { source, root, error: null, nonAscii: reader.nonAscii };
  } catch (error) {
    if (error instanceof YamlError) return { source, root: null, error, nonAscii: [] };
    throw error;
  }
}

class Reader {
  readonly nonAscii: ScalarNode[] = [];
  private readonly scanner: Scanner;
  private readonly anchors = new Map<string, Node | null>();
  private readonly sizes = new Map<Node, number>();
  private readonly isAscii: boolean;
  private hasAliases = false;
  private depth = 0;
  private count = 0;

  constructor(
    private readonly source: Source,
    private readonly limits: ReadLimits,
  ) {
    const text = source.text;
    if (text.length > limits.textLength) {
      this.scanner = new Scanner('', limits);
      this.isAscii = true;
      return;
    }
    this.scanner = new Scanner(text, limits);
    this.isAscii = !NOT_ASCII.test(text);
  }

  document(): Node | null {
    const { text } = this.source;
    if (text.length > this.limits.textLength)
      throw new YamlError('limit', 'the text is too long', 0, `at most ${this.limits.textLength} characters`);
    const bad = NOT_PRINTABLE.exec(text);
    if (bad)
      throw new YamlError(
        'reader',
        `the character U+${bad[0].charCodeAt(0).toString(16).padStart(4, '0')} is not allowed`,
        bad.index,
      );
    const { scanner } = this;
    while (scanner.peek().t === T.Directive || scanner.peek().t === T.DocumentEnd) scanner.next();
    if (scanner.peek().t === T.DocumentStart) scanner.next();
    if (scanner.peek().t === T.StreamEnd || scanner.peek().t === T.DocumentEnd) return null;
    const root = this.node(true, false);
    if (this.hasAliases) this.checkSize(root);
    const end = scanner.peek();
    if (end.t === T.DocumentEnd) while (scanner.peek().t === T.DocumentEnd) scanner.next();
    const last = scanner.peek();
    if (last.t === T.DocumentStart)
      throw new YamlError('composer', 'a second document begins here', last.start, 'one document');
    if (last.t !== T.StreamEnd)
      throw new YamlError(
        'parser',
        'the document goes on where it should have ended',
        last.start,
        'correct indentation',
      );
    return root;
  }

  private node(isBlock: boolean, isIndentless: boolean): Node {
    const { scanner } = this;
    let token = scanner.peek();
    if (token.t === T.Alias) return this.alias(scanner.next());
    const start = token.start;
    let anchor: string | null = null;
    let tag: string | null = null;
    while (token.t === T.Anchor || token.t === T.Tag) {
      scanner.next();
      if (token.t === T.Anchor) anchor = token.text;
      else tag = token.text;
      token = scanner.peek();
    }
    if (++this.count > this.limits.expandedNodes)
      throw new YamlError(
        'limit',
        'the document holds too many values',
        start,
        `at most ${this.limits.expandedNodes} values`,
      );
    if (++this.depth > this.limits.depth)
      throw new YamlError(
        'limit',
        'collections are nested too deeply',
        start,
        `at most ${this.limits.depth} levels`,
      );
    if (anchor !== null) this.anchors.set(anchor, null);
    const node = this.content(token, start, tag, isBlock, isIndentless, anchor !== null || tag !== null);
    if (anchor !== null) this.anchors.set(anchor, node);
    this.depth--;
    return node;
  }

  private content(
    token: Token,
    start: number,
    tag: string | null,
    isBlock: boolean,
    isIndentless: boolean,
    hasProperties: boolean,
  ): Node {
    const { scanner } = this;
    switch (token.t) {
      case T.Scalar:
        scanner.next();
        return this.scalar(token, start, tag);
      case T.FlowSeqStart:
        return this.tagged(this.flowSeq(), tag, 'seq');
      case T.FlowMapStart:
        return this.tagged(this.flowMap(), tag, 'map');
      case T.BlockEntry:
        if (isIndentless) return this.tagged(this.blockSeq(true), tag, 'seq');
        break;
      case T.BlockSeqStart:
        if (isBlock) return this.tagged(this.blockSeq(false), tag, 'seq');
        break;
      case T.BlockMapStart:
        if (isBlock) return this.tagged(this.blockMap(), tag, 'map');
        break;
      default:
    }
    if (hasProperties) return this.empty(start);
    throw new YamlError('parser', 'a value is missing here', token.start, 'a scalar, a list or a mapping');
  }

  private empty(start: number): ScalarNode {
    return new ScalarNode(null, 'null', this.source, start);
  }

  private alias(token: Token): Node {
    const node = this.anchors.get(token.text);
    if (node === undefined)
      throw new YamlError(
        'composer',
        `no anchor is named "${token.text}"`,
        token.start,
        'an anchor defined above',
      );
    if (node === null) throw new YamlError('composer', `"${token.text}" contains itself`, token.start);
    this.hasAliases = true;
    return node;
  }

  private scalar(token: Token, start: number, tag: string | null): ScalarNode {
    if (tag !== null && tag !== '!') return this.taggedScalar(token, start, tag);
    if (token.isPlain && tag === null) {
      const { type, value } = resolvePlain(token.text);
      const node = new ScalarNode(value, type, this.source, start);
      if (type === 'string') this.noteAscii(node);
      return node;
    }
    const node = new ScalarNode(token.text, 'string', this.source, start);
    this.noteAscii(node);
    return node;
  }

  private noteAscii(node: ScalarNode): void {
    // an escape such as "\u00e9" gives such a string in an ASCII text
    if (this.isAscii && this.source.text.charCodeAt(node.start) !== 34) return;
    if (this.nonAscii.length < NON_ASCII_MAX && NOT_ASCII.test(node.value as string))
      this.nonAscii.push(node);
  }

  private taggedScalar(token: Token, start: number, tag: string): ScalarNode {
    const name = tag.startsWith('!!') ? tag.slice(2) : (/^!<tag:yaml\.org,2002:(\w+)>$/.exec(tag)?.[1] ?? '');
    if (name === 'str' || name === 'binary') {
      const node = new ScalarNode(token.text, name === 'str' ? 'string' : 'binary', this.source, start);
      if (name === 'str') this.noteAscii(node);
      return node;
    }
    const wanted: Record<string, ScalarType> = {
      int: 'integer',
      float: 'float',
      bool: 'boolean',
      null: 'null',
      timestamp: 'timestamp',
    };
    const type = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    if (type === undefined)
      throw new YamlError(
        'composer',
        `the tag ${tag} is not allowed`,
        start,
        'no tag, or !!str, !!int, !!float, !!bool, !!null',
      );
    const { type: found, value } = resolvePlain(token.text);
    const isFit = found === type || (type === 'float' && found === 'integer') || type === 'null';
    if (!isFit)
      throw new YamlError('composer', `${JSON.stringify(token.text)} is not of the type ${tag}`, start);
    return new ScalarNode(type === 'null' ? null : value, type, this.source, start);
  }

  private tagged(node: Node, tag: string | null, name: string): Node {
    if (tag === null || tag === '!' || tag === `!!${name}`) return node;
    throw new YamlError('composer', `the tag ${tag} is not allowed`, node.start, 'no tag');
  }

  private blockSeq(isIndentless: boolean): SeqNode {
    const { scanner } = this;
    const start = scanner.peek().start;
    if (!isIndentless) scanner.next();
    const items: Node[] = [];
    while (scanner.peek().t === T.BlockEntry) {
      const entry = scanner.next();
      const { t } = scanner.peek();
      const isEmpty =
        t === T.BlockEntry || t === T.BlockEnd || (isIndentless && (t === T.Key || t === T.Value));
      items.push(isEmpty ? this.empty(entry.start) : this.node(true, false));
    }
    if (!isIndentless) this.blockEnd('list');
    return new SeqNode(items, this.source, start);
  }

  private blockEnd(what: string): void {
    const token = this.scanner.next();
    if (token.t !== T.BlockEnd)
      throw new YamlError(
        'parser',
        `something that does not belong to the ${what} above`,
        token.start,
        'correct indentation',
      );
  }

  private blockMap(): MapNode {
    const { scanner } = this;
    const start = scanner.next().start;
    const pairs: [Node, Node][] = [];
    while (scanner.peek().t === T.Key) {
      const keyToken = scanner.next();
      const key = isBareKey(scanner.peek().t) ? this.empty(keyToken.start) : this.node(true, true);
      if (scanner.peek().t !== T.Value) {
        pairs.push([key, this.empty(key.start)]);
        continue;
      }
      const colon = scanner.next();
      pairs.push([key, isBareKey(scanner.peek().t) ? this.empty(colon.start) : this.node(true, true)]);
    }
    this.blockEnd('mapping');
    return this.mapping(pairs, start);
  }

  private flowSeq(): SeqNode {
    const { scanner } = this;
    const start = scanner.next().start;
    const items: Node[] = [];
    while (scanner.peek().t !== T.FlowSeqEnd) {
      if (items.length > 0) this.flowEntry('list', ']');
      const token = scanner.peek();
      if (token.t === T.FlowSeqEnd) break;
      if (token.t === T.Key) {
        scanner.next();
        items.push(this.mapping([this.flowPair(token.start, T.FlowSeqEnd)], token.start));
      } else items.push(this.node(false, false));
    }
    scanner.next();
    return new SeqNode(items, this.source, start);
  }

  private flowEntry(what: string, close: string): void {
    const token = this.scanner.next();
    if (token.t !== T.FlowEntry)
      throw new YamlError('parser', `the ${what} is not closed`, token.start, `"," or "${close}"`);
  }

  private flowMap(): MapNode {
    const { scanner } = this;
    const start = scanner.next().start;
    const pairs: [Node, Node][] = [];
    while (scanner.peek().t !== T.FlowMapEnd) {
      if (pairs.length > 0) this.flowEntry('mapping', '}');
      const token = scanner.peek();
      if (token.t === T.FlowMapEnd) break;
      if (token.t === T.Key) {
        scanner.next();
        pairs.push(this.flowPair(token.start, T.FlowMapEnd));
      } else if (token.t === T.Value) {
        throw new YamlError('parser', 'a key is missing before ":"', token.start);
      } else {
        const key = this.node(false, false);
        pairs.push([key, this.empty(key.start)]);
      }
    }
    scanner.next();
    return this.mapping(pairs, start);
  }

  private flowPair(start: number, end: T): [Node, Node] {
    const { scanner } = this;
    const isOver = (t: T): boolean => t === T.FlowEntry || t === end;
    const key =
      scanner.peek().t === T.Value || isOver(scanner.peek().t) ? this.empty(start) : this.node(false, false);
    if (scanner.peek().t !== T.Value) return [key, this.empty(key.start)];
    const colon = scanner.next();
    return [key, isOver(scanner.peek().t) ? this.empty(colon.start) : this.node(false, false)];
  }

  private mapping(pairs: readonly [Node, Node][], start: number): MapNode {
    return new MapNode(entriesOf(pairs, this.source), this.source, start);
  }

  /** Refuses alias bombs: computes the number of nodes with every alias written out, without writing them out. */
  private checkSize(root: Node): void {
    if (this.sizeOf(root) > this.limits.expandedNodes) {
      throw new YamlError(
        'limit',
        'the aliases of this document expand to too much',
        root.start,
        `at most ${this.limits.expandedNodes} values`,
      );
    }
  }

  private sizeOf(node: Node): number {
    if (node.kind === 'scalar') return 1;
    const known = this.sizes.get(node);
    if (known !== undefined) return known;
    let size = 1;
    if (node.kind === 'seq') for (const item of node.items) size += this.sizeOf(item);
    else for (const entry of node.entries) size += 1 + this.sizeOf(entry.value);
    this.sizes.set(node, size);
    return size;
  }
}

function isBareKey(t: T): boolean {
  return t === T.Key || t === T.Value || t === T.BlockEnd;
}
