/** JSON text of a value; `bigint` as digits. The parser lives here too. */

declare global {
  interface JSON {
    /** ECMAScript proposal JSON.parse source text access, in Node.js since 22. */
    rawJSON(text: string): unknown
  }
}

export function stringify(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? JSON.rawJSON(one.toString()) : one), indent)
}
