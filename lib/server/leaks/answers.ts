/** Writes the answers to reports of leaks. */
import { createHash } from 'node:crypto'
import type { ApiResponse } from '../../endpoints/request.ts'
import { stringify } from '../../meta/encoding/json.ts'
import type { Finding } from './report.ts'

/** The answer to every report that was read, whichever texts it has. */
export const acceptedAnswer: ApiResponse = { status: 202, headers: {}, warnings: [], body: '' }

/**
 * Returns the answer to a signed report of GitHub, which collects how many of its findings are right. `isValue` reports
 * whether a text is or was a value of a key. The answer has the hashes of the texts.
 */
export function labelledAnswer(findings: readonly Finding[], isValue: (text: string) => boolean): ApiResponse {
  const labels = findings.map(({ text, type = '' }) => ({
    token_hash: createHash('sha256').update(text).digest('hex'),
    token_type: type,
    label: isValue(text) ? 'true_positive' : 'false_positive',
  }))
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings: [],
    body: `${stringify(labels)}\n`,
  }
}
