/** The OpenAPI documents. */

import { Namespace } from '../../lib/clusters/namespace.ts'
import { CustomResourceDefinition } from '../../lib/server/documents/customresourcedefinition.ts'
import { kinds } from '../../lib/server/servedkinds.ts'
import { verbsOf } from '../documents/discovery.ts'
import { openApi } from '../documents/openapi.ts'
import { openApiV2 } from '../documents/v2.ts'

const described = [Namespace, ...kinds, CustomResourceDefinition].map((kind) => ({ ...kind, verbs: verbsOf(kind) }))
const info = {
  title: 'keyplane',
  version: 'v1',
  license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
}

export const { index, documents } = openApi(described, info)
export const v2 = openApiV2(described, info)
