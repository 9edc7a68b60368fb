/** Reads and writes the addresses of pages: the part after `#`, such as `#/keys/ci-abc12`. An access key is never part of one. */
import { hasSecret } from './secrets.ts'

export interface Route {
  /** The first part: which page. */
  page: string
  /** The other parts, decoded. */
  parts: readonly string[]
  query: URLSearchParams
}

/** Reads the hash of an address. An empty one is the page `overview`. Parts that are badly encoded stay as they are. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const [page = '', ...parts] = path.split('/').map(decoded)
  return { page: page || 'overview', parts: parts.filter((part) => part !== ''), query: new URLSearchParams(query) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the address of a page. What people type becomes part of queries, so those with an access key or a token are left out. */
export function hrefOf(page: string, parts: readonly string[] = [], query: Record<string, string> = {}): string {
  const path = [page, ...parts].map(encodeURIComponent).join('/')
  const search = new URLSearchParams(Object.entries(query).filter(([, text]) => !hasSecret(text))).toString()
  return `#/${path}${search && `?${search}`}`
}
