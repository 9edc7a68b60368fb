/**
 * What is used of js-yaml. A lazy import of this module brings that into the bundles, one of the package would bring all
 * of it.
 */
export {
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  EVENT_ID,
  type Event,
  getScalarValue,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
} from 'js-yaml'
