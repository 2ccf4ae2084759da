//! Facts about each agent runtime, and how it is connected.
