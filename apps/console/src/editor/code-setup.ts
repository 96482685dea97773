/** CodeMirror extensions of the editor: line numbers, history, search, YAML, completion, diagnostics. */

import type { Completion, Completions, Diagnostic } from '@baton/dsl';
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  closeBrackets,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentService,
  indentUnit,
} from '@codemirror/language';
import { lintGutter, lintKeymap, type Diagnostic as Mark } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { t } from '../text/text';
import { codeTheme } from './code-theme';
import { nextIndent } from './next-indent';
import { isYaml } from './project';

export interface CodeOptions {
  path: string;
  label: string;
  isReadOnly: boolean;
  onChange: (text: string) => void;
  onSave: () => void;
  complete: (text: string, offset: number) => Promise<Completions | null>;
}

/** Returns the extensions. `options` is a function, so that they always use the options of the latest render. */
export function codeExtensions(options: () => CodeOptions): Extension[] {
  const { path, label, isReadOnly } = options();
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069\u200b-\u200f]/g }),
    drawSelection(),
    indentUnit.of('  '),
    EditorState.tabSize.of(2),
    EditorState.readOnly.of(isReadOnly),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    ...(isYaml(path)
      ? [
          yaml(),
          indentService.of((context, at) => nextIndent(context.lineAt(at, -1).text)),
          autocompletion({ override: [source(options)], icons: false, activateOnTypingDelay: 80 }),
        ]
      : []),
    codeTheme,
    // A scrollable element must be reachable by keyboard and have a visible focus.
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) options().onChange(update.state.doc.toString());
    }),
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    // Tab keeps its default behaviour: keyboard users leave the editor with it.
    keymap.of([
      {
        key: 'Mod-s',
        preventDefault: true,
        run: () => {
          options().onSave();
          return true;
        },
      },
      ...completionKeymap,
      ...lintKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...defaultKeymap,
    ]),
  ];
}

/**
 * Handles text typed over a selection. A browser would preserve the look of the selected text in a `style` attribute, which the
 * page's Content Security Policy refuses. Here the text is replaced directly.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { main } = view.state.selection;
  if (event.inputType !== 'insertText' || event.data === null || main.empty || view.composing) return false;
  event.preventDefault();
  const text = event.data;
  const insert = () =>
    view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
  const isTaken = view.state
    .facet(EditorView.inputHandler)
    .some((handle) => handle(view, main.from, main.to, text, insert));
  if (!isTaken) view.dispatch(insert());
  return true;
}

const source =
  (options: () => CodeOptions): CompletionSource =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.state.sliceDoc(context.state.doc.lineAt(context.pos).from, context.pos);
    // On an empty line completion opens only on request; elsewhere it opens during typing.
    if (!context.explicit && before.trim() === '') return null;
    const found = await options().complete(context.state.doc.toString(), context.pos);
    if (!found || context.aborted) return null;
    return { from: found.from, options: found.options.map(asOption), validFor: /^[\w.:/-]*$/ };
  };

const asOption = ({ label, kind, detail, doc, text }: Completion) => ({
  label,
  type: kind,
  detail,
  info: doc,
  apply:
    text === undefined
      ? label
      : (view: EditorView, _: unknown, from: number, to: number) => apply(view, text, from, to),
});

function apply(view: EditorView, text: string, from: number, to: number): void {
  // A completed key reuses the colon that follows it.
  const after = view.state.sliceDoc(to, to + 1);
  const insert = after === ':' ? text.replace(/:\s*$/, '') : text;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.complete',
  });
  if (text.endsWith(': ')) startCompletion(view);
}

/** Converts the diagnostics of one file into marks. A diagnostic without a place is shown at the beginning of the text. */
export function marksOf(doc: Text, diagnostics: readonly Diagnostic[]): Mark[] {
  return diagnostics.map(({ line, column, severity, message, nearest, expected }) => {
    const at = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
    const from = Math.min(at.from + Math.max(0, (column ?? 1) - 1), at.to);
    const word = /^["']?[^\s,:\]}]+/.exec(doc.sliceString(from, at.to))?.[0].length ?? 0;
    const said = [message, nearest ? t.blueprint.nearest(nearest) : expected && t.editor.expected(expected)];
    return {
      from,
      to: Math.max(from + word, Math.min(from + 1, at.to)),
      severity,
      message: said.filter(Boolean).join('\n'),
    };
  });
}
