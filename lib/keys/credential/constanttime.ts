/** Compares secrets in constant time, so that the duration does not reveal how much of a guess is correct. */
import { createHash, timingSafeEqual } from 'node:crypto'

export const constantTimeEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
