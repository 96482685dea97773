import { setTimeout as pause } from 'node:timers/promises';
import { FatalError, isMarkedError, operationErrorMark } from '@baton/plugin-sdk';
import { type Dict, isSame, type Json, setKey } from '../json';
import { readAnswer } from './answer';
import { callOf } from './call';
import type { RestScope } from './scope';
import { type SendOptions, send } from './send';
import { hideSensitive, withoutSensitive } from './sensitive-keys';
import { callsOf, rendered } from './template';

/** A template with everything that its calls need. */
export interface TemplateRun {
  /** File of the blueprint. */
  file: string;
  /** Variables of the template; results of its calls are added. */
  variables: Dict;
  /** Properties of the node: hosts, port, ssl and so on. */
  connection: Dict;
  /** The template is rendered as a whole, before it is read as YAML. */
  prerender?: boolean;
  /** Tries in the same operation, and seconds between them. */
  retryCount?: number;
  retrySleep?: number;
  /** Beginning of the keys of steps; different in each template of an operation. Undefined: the calls only read, and have no steps. */
  stepKey?: string;
  /** Name of a header that has the same value in each try of a call. */
  idempotencyHeader?: string;
  /** Translates answers of calls that have no rules of their own. */
  defaultTranslation?: Dict;
  send?: SendOptions;
}

/** What the calls of a template gave. */
export interface TemplateResult {
  result_properties: Dict;
  /** The rendered calls, with sensitive values masked. */
  calls: Json[];
}

/**
 * Runs the calls of a template, one after the other. Each is a step: an attempt after the loss of a worker goes on behind it. Another
 * try after a failure begins with the first call again, as the original does.
 * @throws FatalError for a wrong template, and as the calls say
 * @throws RetryableError as the calls say
 */
export async function runTemplate(scope: RestScope, run: TemplateRun): Promise<TemplateResult> {
  hideSensitive(run.variables, scope.hide);
  hideSensitive(run.connection, scope.hide);
  const text = Buffer.from(await scope.ctx.getResource(run.file)).toString('utf8');
  const tries = run.retryCount ?? 1;
  if (tries < 1) throw new FatalError('retry_count: expected at least 1');
  for (let attempt = 1; ; attempt++) {
    try {
      return await runCalls(scope, run, text, attempt);
    } catch (error) {
      const mayRepeat = isMarkedError(error) && error[operationErrorMark] === 'retryable';
      if (!mayRepeat || attempt >= tries || scope.signal.aborted) throw error;
      scope.log.info(`${error.message}; try ${attempt + 1} of ${tries} in ${run.retrySleep ?? 15} s`);
      await pause((run.retrySleep ?? 15) * 1000, undefined, { signal: scope.signal });
    }
  }
}

async function runCalls(
  scope: RestScope,
  run: TemplateRun,
  text: string,
  attempt: number,
): Promise<TemplateResult> {
  const whole = run.prerender ? await scope.render(text, forTemplate(run.variables)) : text;
  const written = callsOf(whole, run.file);
  if (written.length === 0) scope.log.debug(`${run.file} has no calls`);
  const result: TemplateResult = { result_properties: {}, calls: [] };
  for (const [i, one] of written.entries()) {
    const place = `${run.file}: call ${i + 1}`;
    const work = async (idempotencyKey?: string): Promise<{ call: Json; properties: Dict }> => {
      const variables = forTemplate({ ...run.variables, ...result.result_properties });
      const call = run.prerender ? one : await rendered(one, variables, scope.render);
      hideSensitive(call, scope.hide);
      const before = result.result_properties;
      const properties = await carryOut(scope, run, { call, place, before, idempotencyKey });
      return { call: withoutSensitive(call), properties };
    };
    const key = `${run.stepKey}try ${scope.ctx.operation.retryNumber}.${attempt}, call ${i + 1}`;
    const { call, properties } =
      run.stepKey === undefined
        ? await work()
        : ((await scope.step(key, ({ idempotencyKey }) => work(idempotencyKey) as never)) as never as {
            call: Json;
            properties: Dict;
          });
    result.calls.push(call);
    for (const [name, value] of Object.entries(properties)) setKey(result.result_properties, name, value);
  }
  return result;
}

interface RenderedCall {
  call: Json;
  place: string;
  /** What earlier calls gave; rules may add to it. */
  before: Dict;
  idempotencyKey: string | undefined;
}

/** Sends a call, and returns the properties that its answer made or changed. */
async function carryOut(
  scope: RestScope,
  { connection, idempotencyHeader, defaultTranslation, send: options }: TemplateRun,
  { call: written, place, before, idempotencyKey }: RenderedCall,
): Promise<Dict> {
  const call = callOf(written, connection, place);
  const headers =
    idempotencyHeader && idempotencyKey !== undefined ? { [idempotencyHeader]: idempotencyKey } : {};
  const answer = await send(scope, call, { ...options, headers });
  const properties = structuredClone(before);
  const isUntranslated = call.response_translation === undefined || call.response_translation === null;
  const rules =
    isUntranslated && defaultTranslation !== undefined
      ? { response_translation: defaultTranslation, translation_format: 'v3' as const }
      : {};
  readAnswer(answer, { ...call, ...rules }, properties);
  return Object.fromEntries(
    Object.entries(properties).filter(([name, value]) => !isSame(before[name], value)),
  );
}

/** `ctx` is the context of the operation. Runtime properties of Baton itself are no business of templates. */
const forTemplate = (variables: Dict): Dict =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => name !== 'ctx' && !name.startsWith('__baton')),
  );
