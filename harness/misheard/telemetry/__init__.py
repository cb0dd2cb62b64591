"""What the machine did while a run worked: sensors, samples, energy and money per stage."""
