import { afterDelay, systemClock } from '@baton/kernel';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { obtainImport } from './obtain-import';
import type { ParseResult } from './parse-messages';
import { createParser, type Parser } from './parser';
import { type Project, parserFiles } from './project';

/** The parser starts after this pause in typing. */
const REST_MS = 200;

export interface Parsed {
  result: ParseResult | null;
  /** The shown result belongs to an older text. */
  isBusy: boolean;
  /** An error of the parser itself. */
  fault: string | null;
  complete: Parser['complete'];
  /** Requests failed imports again. */
  again: () => void;
}

/** Parses the project whenever it changes. */
export function useParser(project: Project): Parsed {
  const { client } = useApi();
  const tenant = useTenant();
  const [result, setResult] = useState<ParseResult | null>(null);
  const [isBusy, setBusy] = useState(true);
  const [fault, setFault] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  const parser = useMemo(
    () =>
      createParser({
        createWorker: () => new Worker(new URL('./dsl.worker.ts', import.meta.url), { type: 'module' }),
        obtain: obtainImport(client, tenant),
        nowMs: systemClock.now,
        delay: afterDelay,
      }),
    [client, tenant],
  );
  const isFirst = useRef(true);
  useEffect(() => () => parser.stop(), [parser]);
  // A change of `turn` parses the same text again.
  useEffect(() => {
    let isOld = false;
    setBusy(true);
    const takeBack = afterDelay(isFirst.current ? 0 : REST_MS, () => {
      isFirst.current = false;
      parser.parse(parserFiles(project), project.mainFile).then(
        (next) => {
          if (isOld || next === null) return;
          setResult((before) => ({ ...next, nodes: next.nodes ?? before?.nodes ?? null }));
          setFault(null);
          setBusy(false);
        },
        (error: unknown) => {
          if (isOld) return;
          setFault((error as Error).message);
          setBusy(false);
        },
      );
    });
    return () => {
      isOld = true;
      takeBack();
    };
  }, [parser, project, turn]);
  return {
    result,
    isBusy,
    fault,
    complete: parser.complete,
    again: () => {
      parser.forget();
      setTurn((now) => now + 1);
    },
  };
}
