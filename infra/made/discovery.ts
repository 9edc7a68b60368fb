/** The documents of discovery. */

import { Namespace } from '../../lib/clusters/namespace.ts'
import { discoveryDocuments } from '../../lib/engine/documents/discovery.ts'
import { CustomResourceDefinition } from '../../lib/server/documents/customresourcedefinition.ts'
import { kinds } from '../../lib/server/servedkinds.ts'

export const { documents, aggregated } = discoveryDocuments([Namespace, ...kinds, CustomResourceDefinition])
