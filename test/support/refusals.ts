/** Compares what refusals say. */
import { expect } from 'vitest'
import type { Answer } from './request.ts'

export const messageOf = ({ status, json }: Pick<Answer, 'status' | 'json'>): [number, string] => [status, json.message]

/** Matches the `messageOf` a refusal with this code and text. */
export const saying = (code: number, text: string | RegExp) => [
  code,
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
]
