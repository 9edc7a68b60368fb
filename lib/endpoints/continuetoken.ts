/**
 * Continue tokens: `{"v":"meta.k8s.io/v1","rv":582,"start":"ns/name\0"}` as base64url without padding. `start` is the
 * last key of the page before and a NUL: the first possible key after it. Source: k8s.io/apiserver storage/continue.go.
 */
import { badRequest } from '../meta/errors.ts'

export interface ContinueToken {
  /** The revision that all pages show; -1 = whatever is newest (offered after that snapshot is gone). */
  rv: number
  /** The last key of the page before, relative to the collection. */
  after: string
}

const version = 'meta.k8s.io/v1'

export function encodeContinue({ rv, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: version, rv, start: `${after}\0` })).toString('base64url')
}

const invalidToken = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`)

/** A key has no NUL, no control characters and no path tricks; 512 bytes hold every namespace and name. */
const wellFormed = (key: string): boolean => key.length <= 512 && /^[a-z0-9.-]+(\/[a-z0-9.-]+)?$/.test(key)

/** Throws 400 with kube-apiserver's words. */
export function decodeContinue(text: string): ContinueToken {
  if (!/^[A-Za-z0-9_-]{1,2048}$/.test(text)) {
    const at = Math.max(0, text.search(/[^A-Za-z0-9_-]/))
    throw invalidToken(`illegal base64 data at input byte ${at}`)
  }
  const parsed = parse(Buffer.from(text, 'base64url').toString('utf8'))
  if (parsed.v !== version) {
    throw invalidToken(
      `server does not recognize this encoded version ${JSON.stringify(String(parsed.v ?? '')).slice(1, -1)}`,
    )
  }
  if (typeof parsed.start !== 'string' || parsed.start === '') {
    throw invalidToken(`encoded start key empty (version ${version})`)
  }
  if (typeof parsed.rv !== 'number' || !Number.isSafeInteger(parsed.rv) || parsed.rv < -1 || parsed.rv === 0) {
    throw invalidToken(`incorrect encoded start resourceVersion (version ${version})`)
  }
  const after = parsed.start.endsWith('\0') ? parsed.start.slice(0, -1) : parsed.start
  if (!wellFormed(after)) throw invalidToken(`invalid encoded start key (version ${version})`)
  return { rv: parsed.rv, after }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    throw invalidToken('invalid JSON')
  }
  throw invalidToken('invalid JSON')
}
