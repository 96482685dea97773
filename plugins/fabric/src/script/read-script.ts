import { FatalError, http, type OperationContext } from '@baton/plugin-sdk';

/** A first line of text that ends as on Windows. */
const WINDOWS_FIRST_LINE = /^[^\0\n]*\r\n/;
const WINDOWS_PROGRAM = /\.(ps1|bat|cmd)$/i;

export interface Script {
  name: string;
  content: Buffer;
}

/** Reads a script of the blueprint or from an address, with the line ends of Unix. @throws FatalError when there is none */
export async function readScript(ctx: OperationContext, path: string): Promise<Script> {
  const isAddress = /^https?:\/\//.test(path);
  const name =
    (isAddress && URL.canParse(path) ? new URL(path).pathname : path).split('/').at(-1) || 'script';
  const content = isAddress ? await fetched(ctx, path) : Buffer.from(await ctx.getResource(path));
  const text = content.toString('latin1');
  const isWindowsText = WINDOWS_FIRST_LINE.test(text) && !text.includes('\0') && !WINDOWS_PROGRAM.test(name);
  // The host would look for an interpreter whose name ends with a carriage return.
  return { name, content: isWindowsText ? Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1') : content };
}

async function fetched({ signal }: OperationContext, address: string): Promise<Buffer> {
  const answer = await http.get<unknown>(address, { signal, headers: { accept: '*/*' } });
  if (typeof answer === 'string') return Buffer.from(answer);
  throw new FatalError('script_path: the address does not answer with a text');
}
