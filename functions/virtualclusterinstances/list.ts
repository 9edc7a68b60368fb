import { VirtualClusterInstance } from '../../lib/apis/management/v1/virtualclusterinstance.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(VirtualClusterInstance, 'list')
