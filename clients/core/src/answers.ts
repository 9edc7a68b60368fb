/** Reads the answers of the API. */

/** The body of a refusal, as Kubernetes defines it. */
export interface Status {
  kind: 'Status'
  message?: string
  reason?: string
  code?: number
  details?: { causes?: { reason?: string; field?: string; message?: string }[]; retryAfterSeconds?: number }
}

/** Reports whether an answer with this code may be another one later: the server was too busy, too slow, or failed. All others are decisions. */
export const mayPass = (code: number): boolean => code === 408 || code === 429 || code >= 500

/** Reports whether a write may have been made in spite of an answer with this code. A server without room (507) says that it was not. */
export const mayBeMade = (code: number): boolean => code >= 500 && code !== 507

/** Returns the object of a JSON text, or undefined for any other text. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Returns the seconds of a header Retry-After. Dates are ignored. */
export const retryAfterIn = (header: string | null | undefined): number | undefined =>
  /^\d{1,9}$/.test(header ?? '') ? Number(header) : undefined

export const isStatus = (body: unknown): body is Status => (body as Status | null | undefined)?.kind === 'Status'

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export const messageOf = ({ message }: Partial<Status>): string | undefined => textOf(message)

/** Returns the causes that the message of a Status does not contain: `FIELD: MESSAGE`, or the message alone. */
export function causesOf({ details }: Partial<Status>, message: string): string[] {
  const causes: unknown = details?.causes
  return (Array.isArray(causes) ? causes : []).flatMap((one: { field?: unknown; message?: unknown } | null) => {
    const [cause, field] = [textOf(one?.message), textOf(one?.field)]
    if (cause === undefined || message.includes(cause)) return []
    return [field === undefined ? cause : `${field}: ${cause}`]
  })
}

/** Reports whether API Gateway has answered that it has no such path: the stage or the base path of the URL is wrong. */
export const isUnknownPath = (code: number, body: Record<string, unknown> | undefined): boolean =>
  code === 403 &&
  (body?.message === 'Forbidden' || body?.message === 'Missing Authentication Token') &&
  Object.keys(body).length === 1

/** Returns the text with a full stop, unless it ends as a sentence does: messages of others do or do not. */
export const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
