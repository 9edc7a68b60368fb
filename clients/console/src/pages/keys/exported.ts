/** Writes access keys as a file for other programs. Members are named one by one, so that no value and no hash can be among them. */
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { stateWords } from '../../api/keyfacts.ts'

const fieldsOf = ({ metadata, spec, status }: AccessKey) => [
  metadata.name,
  status?.owner,
  scopeWords(spec.scope),
  metadata.creationTimestamp,
  status?.lastActivity,
  status?.expirationTimestamp,
]

/** In the order of the fields. */
const HEAD = ['Name', 'Owner', 'May do', 'Created', 'Last used', 'Expires', 'State']

/**
 * What a spreadsheet reads as the beginning of a formula, also in its wide form, which some spreadsheets make narrow, and wherever
 * another separator or a line break makes a field of its own begin.
 */
const FORMULA = /(^|[;,|\t\r\n])( *[=+\-@＝＋－＠])/g

/** Returns a quoted field (RFC 4180). An apostrophe before a formula makes it a text for spreadsheets. */
function field(text: string): string {
  const safe = text.replace(FORMULA, "$1'$2")
  return `"${(/^[\t\r\n]/.test(safe) ? `'${safe}` : safe).replaceAll('"', '""')}"`
}

/** Returns the keys as CSV with a line of titles. A time that does not exist is an empty field. */
export const csvOf = (keys: readonly AccessKey[]): string =>
  [HEAD, ...keys.map((key) => [...fieldsOf(key), stateWords(key).join(', ')])]
    .map((fields) => `${fields.map((one) => field(one ?? '')).join(',')}\r\n`)
    .join('')
