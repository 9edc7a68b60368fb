/** Opens the signing keys of this process. */
import { provided } from '../../engine/meta/provided.ts'
import type { OpenKeys } from './signingkeys.ts'

/** The name under which they are provided. */
export const SIGNING_KEYS = 'signing keys'

export const openKeys: OpenKeys = (called) => provided<OpenKeys>(SIGNING_KEYS)(called)
