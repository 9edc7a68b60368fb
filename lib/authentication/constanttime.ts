/** Whether two secrets are the same text, in a time that says nothing of how much of one is right. */
import { createHash, timingSafeEqual } from 'node:crypto'

export const constantTimeEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
