/** Lets the functions with the grant `publish` put events on the bus of the setting event-bus: a name, an ARN, or none. */

const arnOf = (bus) =>
  bus.startsWith('arn:')
    ? bus
    : { 'Fn::Sub': `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:event-bus/${bus}` }

module.exports = class EventBus {
  constructor(serverless) {
    this.hooks = { 'before:package:initialize': () => this.place(serverless.service.custom) }
  }

  place({ settings, grants }) {
    const bus = settings['event-bus']
    const statements = bus === 'none' ? [] : [{ Effect: 'Allow', Action: 'events:PutEvents', Resource: arnOf(bus) }]
    Object.assign(grants.publish, { environment: { EVENT_BUS: bus }, statements })
  }
}
