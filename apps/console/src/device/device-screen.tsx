/** A person decides whether a program may act as the person (RFC 8628). Works on its own, outside of the screens of a tenant. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useApi } from '../api/api-context';
import { type AskedLogin, decideLogin, lookUpLogin } from '../api/device-login';
import { isSignedOut, problemOf } from '../api/problem';
import { SESSION_KEY, sessionQuery } from '../api/session';
import { CardPage } from '../shell/card-page';
import { durationText } from '../text/format';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Check, controlClass, Field } from '../ui/field';
import styles from './device.module.css';
import { forgetDeviceCode, keptDeviceCode } from './device-code';

const storage = (): Storage => sessionStorage;

export function DeviceScreen() {
  const { client } = useApi();
  const { data: session } = useQuery(sessionQuery(client));
  const leave = useLeave();
  const [kept] = useState(() => keptDeviceCode(storage));
  const found = useMutation({
    mutationFn: (code: string) => lookUpLogin(client, code),
    gcTime: 0,
    onSuccess: () => forgetDeviceCode(storage),
    onError: (error) => {
      leave(error);
      // After the sign-in the code is looked up again.
      if (!isSignedOut(error)) forgetDeviceCode(storage);
    },
  });
  const { mutate: lookUp } = found;
  useEffect(() => {
    if (kept !== '') lookUp(kept);
  }, [kept, lookUp]);
  return (
    <CardPage title={t.device.title} widthPx={460}>
      {found.data ? (
        <Decision key={found.data.user_code} asked={found.data} onAnother={found.reset} />
      ) : (
        <CodeForm first={kept} isBusy={found.isPending} error={found.error} onCode={lookUp} />
      )}
      {session && <p className={styles.who}>{t.device.signedInAs(session.username)}</p>}
    </CardPage>
  );
}

/** Returns a handler of errors that shows the sign-in when the session has ended. */
function useLeave(): (error: unknown) => void {
  const cache = useQueryClient();
  return (error) => {
    if (isSignedOut(error)) cache.setQueryData(SESSION_KEY, null);
  };
}

interface CodeFormProps {
  first: string;
  isBusy: boolean;
  error: unknown;
  onCode: (code: string) => void;
}

function CodeForm({ first, isBusy, error, onCode }: CodeFormProps) {
  const [code, setCode] = useState(first);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onCode(code);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <h1>{t.device.title}</h1>
      <p>{t.device.enter}</p>
      <Field label={t.device.code} hint={t.device.hint} error={error ? refusalText(error) : null}>
        {(ids) => (
          <input
            {...ids}
            className={`${controlClass} ${styles.code}`}
            name="user_code"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={32}
            required
            value={code}
            onChange={(event) => setCode(event.currentTarget.value.toUpperCase())}
          />
        )}
      </Field>
      <Button look="main" type="submit" disabled={isBusy}>
        {t.device.go}
      </Button>
    </form>
  );
}

function Decision({ asked, onAnother }: { asked: AskedLogin; onAnother: () => void }) {
  const { client } = useApi();
  const leave = useLeave();
  const decision = useMutation({
    mutationFn: (isApproved: boolean) => decideLogin(client, asked.user_code, isApproved),
    gcTime: 0,
    onError: leave,
  });
  const { state } = decision.data ?? asked;
  if (state !== 'pending')
    return <Decided asked={asked} state={state} isOwn={decision.data !== undefined} onAnother={onAnother} />;
  return (
    <Question
      asked={asked}
      isBusy={decision.isPending}
      error={decision.error}
      onDecide={(isApproved) => decision.mutate(isApproved)}
    />
  );
}

interface QuestionProps {
  asked: AskedLogin;
  isBusy: boolean;
  error: unknown;
  onDecide: (isApproved: boolean) => void;
}

/** The program is asked about by its code, its own name and its address: nothing of it is trusted. */
function Question({ asked, isBusy, error, onDecide }: QuestionProps) {
  const [isConfirmed, setConfirmed] = useState(false);
  return (
    <section className={styles.form} aria-labelledby="asks">
      <h1 id="asks">{t.device.asks}</h1>
      <p>{t.device.compare}</p>
      <div className={styles.shown}>{asked.user_code}</div>
      <AskedFacts asked={asked} />
      {!asked.is_same_address && <p className={styles.warning}>{t.device.otherAddress}</p>}
      <p className={styles.warning}>{t.device.phishing}</p>
      <Check label={t.device.confirm} isChecked={isConfirmed} onChange={setConfirmed} />
      {error ? (
        <p className={styles.refusal} role="alert">
          {refusalText(error)}
        </p>
      ) : null}
      <div className={styles.actions}>
        <Button look="main" disabled={!isConfirmed || isBusy} onClick={() => onDecide(true)}>
          {t.device.approve}
        </Button>
        <Button look="danger" disabled={isBusy} onClick={() => onDecide(false)}>
          {t.device.deny}
        </Button>
      </div>
    </section>
  );
}

function AskedFacts({ asked }: { asked: AskedLogin }) {
  const { facts } = t.device;
  const age = asked.age_s < 5 ? t.device.justNow : t.device.ago(durationText(asked.age_s * 1000));
  const address = asked.is_same_address ? `${asked.address} · ${t.device.sameAddress}` : asked.address;
  return (
    <dl className={styles.facts}>
      {[
        [facts.client, asked.client_name],
        [facts.address, address],
        [facts.age, age],
      ].map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface DecidedProps {
  asked: AskedLogin;
  state: 'approved' | 'denied';
  /** Whether the user has decided just now. */
  isOwn: boolean;
  onAnother: () => void;
}

function Decided({ asked, state, isOwn, onAnother }: DecidedProps) {
  const text = !isOwn
    ? t.device.decided
    : state === 'approved'
      ? t.device.approved(asked.client_name)
      : t.device.denied;
  return (
    <div className={styles.form}>
      <h1>{t.device.title}</h1>
      <p className={isOwn && state === 'approved' ? styles.good : styles.warning} role="status">
        {text}
      </p>
      {isOwn && state === 'approved' && <p>{t.device.revoke}</p>}
      <p>{t.device.close}</p>
      <Button onClick={onAnother}>{t.device.another}</Button>
    </div>
  );
}

function refusalText(error: unknown): string {
  const { kind, code, message, details } = problemOf(error);
  if (kind === 'offline') return t.state.offline;
  if (kind === 'missing') return t.device.unknown;
  if (code === 'conflict_error') return t.device.decided;
  if (code === 'too_many_requests_error') return t.device.tooMany(Number(details.retry_after) || 1);
  return details.field === 'user_code' ? t.device.noCode : message;
}
