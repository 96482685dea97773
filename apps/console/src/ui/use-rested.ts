import { useEffect, useState } from 'react';

const REST_MS = 250;

/** Returns the value after a pause in its changes, so that typing does not send a request per letter. */
export function useRested<Value>(value: Value, restMs = REST_MS): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    if (rested === value) return;
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value, rested, restMs]);
  return rested;
}
