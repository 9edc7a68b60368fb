/** The functions that list and watch kinds of which there is nothing. */
import { emptyCollection } from '../endpoints/emptycollection.ts'
import { groupVersion } from '../meta/groupversion.ts'
import type { KindInfo } from '../registry/kind.ts'
import { type LambdaHandler, serve } from './serve.ts'

/** The handler of a GET of the collection of a kind without objects. */
export function emptyListHandler(kind: Pick<KindInfo, 'group' | 'version' | 'kind' | 'plural'>): LambdaHandler {
  const resource = { apiVersion: groupVersion(kind), kind: kind.kind }
  return serve((request, clock) => emptyCollection(request, resource, clock), {
    verb: 'list',
    resource: kind.plural,
    streams: true,
  })
}
