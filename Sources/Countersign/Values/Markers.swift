/// Names the kind of an ``ID`` until the thing itself has a type.
package enum Credential {}
