/** An answer of the API that is not a success. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** `error_code` of the body; `http_<status>` when the answer did not come from the API (but from a proxy in between). */
    readonly errorCode: string,
    message: string,
    /** Further keys of the body: field, expected, nearest, diagnostics, ... */
    readonly details: Record<string, unknown>,
    readonly requestId: string | null,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** Reads the error out of a refused response. */
export async function readApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const requestId = response.headers.get('x-request-id');
  const body = parseObject(text);
  if (!body)
    return new ApiError(
      response.status,
      `http_${response.status}`,
      text.slice(0, 500) || response.statusText,
      {},
      requestId,
    );
  const { message, error_code, server_traceback, ...details } = body;
  void server_traceback;
  return new ApiError(
    response.status,
    String(error_code ?? `http_${response.status}`),
    String(message ?? details.detail ?? ''),
    details,
    requestId,
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
