import { useFunctions } from '../../support/functions.ts'
import { describeVirtual } from '../virtual/create.ts'

describeVirtual(useFunctions(), {
  name: 'accesskeyrevocations/create',
  apiVersion: 'management.platform/v1',
  kind: 'AccessKeyRevocation',
  spec: { names: ['nobody'] },
})
