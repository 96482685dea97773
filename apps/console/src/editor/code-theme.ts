/** Colours of the editor, taken from styles/tokens.css, so that the editor follows light and dark mode. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const popup = {
  border: '1px solid var(--line-strong)',
  borderRadius: 'var(--radius-small)',
  backgroundColor: 'var(--surface)',
  color: 'var(--text)',
  boxShadow: 'var(--shadow-high)',
};

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.cm-gutters': {
    color: 'var(--text-2)',
    backgroundColor: 'var(--surface-2)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--surface-2) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--surface-3)' },
  '.cm-tooltip': popup,
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-fill)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'var(--text-2)', fontStyle: 'normal' },
  'li[aria-selected] .cm-completionDetail': { color: 'var(--on-accent)' },
  '.cm-completionInfo': { ...popup, padding: '6px 8px', maxWidth: '320px' },
  '.cm-panels': { backgroundColor: 'var(--surface-2)', color: 'var(--text)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-textfield': {
    border: '1px solid var(--line-strong)',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    fontSize: '13px',
  },
  '.cm-button': {
    border: '1px solid var(--line-strong)',
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)' },
  '.cm-searchMatch-selected': { outline: '2px solid var(--warn-bar)' },
  '.cm-diagnostic': { padding: '4px 8px', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad-bar)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn-bar)' },
  '.cm-lintRange-error': { backgroundImage: 'none', borderBottom: '2px solid var(--bad-bar)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', borderBottom: '2px dotted var(--warn-bar)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--busy)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-2)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: 'var(--warn)' },
]);

export const codeTheme = [theme, syntaxHighlighting(colours)];
