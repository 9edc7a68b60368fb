/** Opens the event bus of this process. */
import { provided } from '../../engine/meta/provided.ts'
import type { OpenBus } from './publish.ts'

/** The name under which it is provided. */
export const EVENT_BUS = 'event bus'

export const openBus: OpenBus = (name) => provided<OpenBus>(EVENT_BUS)(name)
