/** The OpenAPI documents. The build evaluates this module: functions contain its exports in place of the kinds. */
import { CustomResourceDefinition } from '../../apis/apiextensions/v1/customresourcedefinition.ts'
import { Namespace } from '../../apis/core/v1/namespace.ts'
import { kinds } from '../../apis/index.ts'
import { verbsOf } from '../../endpoints/discovery.ts'
import { openApi } from '../../openapi/openapi.ts'
import { openApiV2 } from '../../openapi/v2.ts'

const described = [Namespace, ...kinds, CustomResourceDefinition].map((kind) => ({ ...kind, verbs: verbsOf(kind) }))
const info = {
  title: 'keyplane',
  version: 'v1',
  license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
}

export const { index, documents } = openApi(described, info)
export const v2 = openApiV2(described, info)
