import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useApi } from '../api/api-context';
import { problemOf } from '../api/problem';
import { beginLogin, type Credentials, loginProvidersQuery, SESSION_KEY, signIn } from '../api/session';
import { t } from '../text/text';
import { Button, buttonClass } from '../ui/button';
import { controlClass, Field } from '../ui/field';
import { CardPage } from './card-page';
import styles from './sign-in.module.css';

/** Returns the error text. It does not tell whether the name or the password is wrong. `directories`: names of directories. */
function refusalText(error: unknown, directories: readonly string[]): string {
  const { kind, code, message } = problemOf(error);
  if (kind === 'signed-out')
    return directories.length === 0 ? t.signIn.refused : t.signIn.refusedOrAway(directories);
  if (kind === 'offline') return t.state.offline;
  return code.startsWith('too_many') ? t.signIn.tooMany : message;
}

/** Replaces every screen while there is no session. The address stays, so the screen appears after the sign-in. */
export function SignIn({ notice }: { notice: string | null }) {
  const { client } = useApi();
  const cache = useQueryClient();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const { data: providers = [] } = useQuery(loginProvidersQuery(client));
  const directories = providers.flatMap(({ type, name }) => (type === 'ldap' ? name : []));
  const enter = useMutation({
    mutationFn: (body: Credentials) => signIn(client, body),
    onSuccess: (session) => {
      // Removes all data that another user has loaded.
      cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
      cache.setQueryData(SESSION_KEY, session);
    },
    onError: () => setPassword(''),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    enter.mutate({ username, password });
  };
  return (
    <CardPage title={t.signIn.title} widthPx={380}>
      <form className={styles.form} onSubmit={submit}>
        <h1>{t.signIn.title}</h1>
        {directories.length > 0 && <p className={styles.hint}>{t.signIn.orDirectory(directories)}</p>}
        {notice && !enter.error && (
          <p className={styles.notice} role="status">
            {notice}
          </p>
        )}
        {enter.error && (
          <p className={styles.refusal} role="alert">
            {refusalText(enter.error, directories)}
          </p>
        )}
        <Field label={t.signIn.username}>
          {(ids) => (
            <input
              {...ids}
              className={controlClass}
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              required
              value={username}
              onChange={(event) => setUsername(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t.signIn.password}>
          {(ids) => (
            <input
              {...ids}
              className={controlClass}
              name="password"
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
          )}
        </Field>
        <Button look="main" type="submit" disabled={enter.isPending}>
          {enter.isPending ? t.signIn.busy : t.signIn.submit}
        </Button>
        <ProviderLinks providers={providers.filter(({ type }) => type === 'oidc')} />
      </form>
    </CardPage>
  );
}

/** Links to the identity providers: the browser leaves the page and comes back to this address. */
function ProviderLinks({ providers }: { providers: readonly { id: string; name: string }[] }) {
  if (providers.length === 0) return null;
  const place = window.location.pathname + window.location.search;
  return (
    <>
      <p className={styles.or}>{t.signIn.orAt}</p>
      {providers.map(({ id, name }) => (
        <a key={id} className={`${buttonClass()} ${styles.provider}`} href={beginLogin(id, place)}>
          {t.signIn.at(name)}
        </a>
      ))}
    </>
  );
}
