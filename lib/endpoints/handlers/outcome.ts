/** The answer to a write of a stored object. */
import { joinWriteOnly } from '../../meta/schema/writeonly.ts'
import { type Outcome, presented } from '../../registry/store.ts'
import { type StoredExchange, set } from '../exchange.ts'
import { respondObject } from '../respond.ts'

/** As a read shows the object, and with what is revealed once, to the one who creates it. */
export async function respondOutcome(exchange: StoredExchange, { stored, draft, created }: Outcome): Promise<void> {
  const { store, context, kind, request, warnings } = exchange
  const { name = '', uid = '' } = stored.object.metadata
  context.note('name', name)
  context.note('uid', uid)
  const shown = presented(store, stored, context)
  const object = created && draft?.reveal && !context.dryRun ? joinWriteOnly(shown, draft.reveal) : shown
  exchange.response = await respondObject(
    request,
    kind,
    object,
    set(exchange.output, 'output'),
    created ? 201 : 200,
    warnings,
  )
}
