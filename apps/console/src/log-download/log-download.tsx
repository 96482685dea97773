import { Download, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { saveBlob } from '../api/save-download';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { InlineProblem } from '../ui/states';
import { readLog } from './read-log';

/** Downloads the whole log of an execution as a text file. The user can stop it; leaving the screen stops it as well. */
export function LogDownload({ executionId, fileName }: { executionId: string; fileName: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (): Promise<void> => {
    const stop = new AbortController();
    running.current = stop;
    setError(null);
    setCount(0);
    try {
      const parts = await readLog(client, { tenant, executionId, signal: stop.signal, onCount: setCount });
      saveBlob(new Blob(parts, { type: 'text/plain' }), fileName);
    } catch (failure) {
      if (!stop.signal.aborted) setError(failure);
    }
    if (running.current === stop) setCount(null);
  };
  const stop = (): void => {
    running.current?.abort();
    setCount(null);
  };
  return (
    <>
      {count === null ? (
        <Button title={t.download.hint} onClick={() => void start()}>
          <Download size={15} aria-hidden="true" /> {t.download.open}
        </Button>
      ) : (
        <Button onClick={stop} title={t.download.stop}>
          <X size={15} aria-hidden="true" /> {t.download.reading(count)}
        </Button>
      )}
      <InlineProblem error={error} />
    </>
  );
}
