/** The OpenAPI documents. */

import { Namespace } from '../../lib/clusters/namespace.ts'
import { openApiDocuments } from '../../lib/engine/documents/openapidocuments.ts'
import { CustomResourceDefinition } from '../../lib/server/documents/customresourcedefinition.ts'
import { kinds } from '../../lib/server/servedkinds.ts'

const license = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }
const info = { title: 'keyplane', version: 'v1', license }

export const { index, documents, v2 } = openApiDocuments([Namespace, ...kinds, CustomResourceDefinition], info)
