/** Kinds of tokens: block structure is explicit, a `key:` begins with `Key`. */
export enum T {
  StreamEnd,
  Directive,
  DocumentStart,
  DocumentEnd,
  BlockSeqStart,
  BlockMapStart,
  BlockEnd,
  FlowSeqStart,
  FlowSeqEnd,
  FlowMapStart,
  FlowMapEnd,
  FlowEntry,
  BlockEntry,
  Key,
  Value,
  Alias,
  Anchor,
  Tag,
  Scalar,
}

export interface Token {
  t: T;
  start: number;
  /** Text of scalars, or name of aliases, anchors and tags. */
  text: string;
  isPlain: boolean;
}
