/**
 * CodeMirror in a shadow root: there it keeps its styles in `adoptedStyleSheets`, which the page's Content Security Policy
 * allows.
 */

import type { Diagnostic } from '@baton/dsl';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import styles from './code-pane.module.css';
import { type CodeOptions, codeExtensions, marksOf } from './code-setup';

interface CodePaneProps extends CodeOptions {
  text: string;
  diagnostics: readonly Diagnostic[];
  /** The place to scroll to; a new object scrolls again to the same place. Lines are counted from 1. */
  jump: { line: number; column: number } | null;
}

export default function CodePane(props: CodePaneProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  // Undo history and cursor of each file, kept while the editor is open.
  const states = useRef(new Map<string, EditorState>());
  const newest = useRef(props);
  newest.current = props;
  const { path, text, diagnostics, jump } = props;

  useEffect(() => {
    const { current: element } = host;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const editor = new EditorView({ parent: root as unknown as HTMLElement, root });
    view.current = editor;
    // Keyboard shortcuts of the page, such as /, must not run while the user types here.
    const keep = (event: Event): void => event.stopPropagation();
    element.addEventListener('keydown', keep);
    return () => {
      element.removeEventListener('keydown', keep);
      editor.destroy();
      view.current = null;
    };
  }, []);

  // The text is taken from the props only when the file changes; typing changes it here first.
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const kept = states.current.get(path);
    const isSame = kept?.doc.toString() === newest.current.text;
    editor.setState(
      isSame && kept
        ? kept
        : EditorState.create({ doc: text, extensions: codeExtensions(() => newest.current) }),
    );
    return () => void states.current.set(path, editor.state);
  }, [path]);

  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, marksOf(editor.state.doc, diagnostics)));
  }, [diagnostics]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !jump) return;
    const line = editor.state.doc.line(Math.min(Math.max(1, jump.line), editor.state.doc.lines));
    const anchor = Math.min(line.from + Math.max(0, jump.column - 1), line.to);
    editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
    editor.focus();
  }, [jump]);

  return <div ref={host} className={styles.host} />;
}
