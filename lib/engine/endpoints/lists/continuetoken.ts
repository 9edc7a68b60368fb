/**
 * Encodes and decodes continue tokens: `{"v":"meta.k8s.io/v1","rv":582,"start":"ns/name\0"}` as unpadded base64url. `start`
 * is the last key of the previous page plus a NUL: the first possible key after it. Source: k8s.io/apiserver storage/continue.go.
 */

import { decodeGoStruct, GoDecodeError, type GoStruct } from '../../meta/encoding/gostruct.ts'
import { parseJson } from '../../meta/encoding/json.ts'
import { DecodeError } from '../../meta/encoding/jsonscanner.ts'
import { badRequest } from '../../meta/errors/status.ts'
import type { JsonObject } from '../../meta/types.ts'

interface ContinueToken {
  /** The revision of all pages; -1 = the newest revision, for a list whose own revision has expired. */
  rv: number
  /** The last key of the previous page, relative to the collection. */
  after: string
}

const version = 'meta.k8s.io/v1'

/** Returns the token that clients send back. */
export function encodeContinue({ rv, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: version, rv, start: `${after}\0` })).toString('base64url')
}

const invalidToken = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`)

/** Rejects NULs, control characters and `..` segments. 512 bytes are enough for any namespace and name. */
const wellFormed = (key: string): boolean =>
  key.length <= 512 && /^[a-z0-9.-]+(\/[a-z0-9.-]+)?$/.test(key) && !/(^|\/)\.\.?(\/|$)/.test(key)

const tokenStruct: GoStruct = {
  kind: 'struct',
  type: 'storage.continueToken',
  name: 'continueToken',
  fields: {
    v: { kind: 'string', type: 'string' },
    rv: { kind: 'int64', type: 'int64' },
    start: { kind: 'string', type: 'string' },
  },
}

/** Decodes a token. Throws 400 with kube-apiserver's message. */
export function decodeContinue(text: string): ContinueToken {
  // Go's base64 decoder ignores line breaks.
  const token = text.replace(/[\r\n]/g, '')
  if (!/^[A-Za-z0-9_-]{1,2048}$/.test(token)) {
    const at = Math.max(0, text.search(/[^A-Za-z0-9_\r\n-]/))
    throw invalidToken(`illegal base64 data at input byte ${at}`)
  }
  const { v = '', rv = 0, start = '' } = parse(Buffer.from(token, 'base64url').toString())
  if (v !== version) throw invalidToken(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw invalidToken(`incorrect encoded start resourceVersion (version ${version})`)
  if (typeof start !== 'string' || start === '') throw invalidToken(`encoded start key empty (version ${version})`)
  const after = start.endsWith('\0') ? start.slice(0, -1) : start
  if (!wellFormed(after)) throw invalidToken(start)
  return { rv: Math.max(-1, Number(rv)), after }
}

function parse(json: string): JsonObject {
  try {
    return decodeGoStruct(parseJson(json).value, tokenStruct).value
  } catch (error) {
    if (error instanceof DecodeError || error instanceof GoDecodeError) throw invalidToken(error.message)
    throw error
  }
}
